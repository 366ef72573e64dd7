"""Games as seen by the engine: the contract, its conformance check, and all ways to reach a simulator."""
