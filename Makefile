# make run PORT=8000 LISTEN=127.0.0.1 VAR=var · make test ARGS="further pytest arguments" · make quick · make lint · make bench BENCH="NAME --json"
# The work is done by deploy/up/bootstrap.py, with nothing but Python 3.11.
.PHONY: run test quick lint bench
export PORT LISTEN VAR PYTHON

run:
	@deploy/up/start.sh run

test:
	@deploy/up/start.sh test $(ARGS)

quick:
	@deploy/up/start.sh quick $(ARGS)

lint:
	@deploy/up/start.sh lint

bench:
	@deploy/up/start.sh bench $(or $(BENCH),--list)
