"""Reports as PDF files, each made once by a worker of the ``quick`` queue and kept in the store: setting one takes
seconds of processor, which no request waits for.

The row says what is wanted and how that stands; the message to the worker carries only the report's number. One file is
sent for at a time, so whoever publishes a hundred reports keeps no worker from handshakes and samples, and of those who
wait the person comes first whose last file is the longest ago. A message that was lost is sent again by the reconciler.
"""

from __future__ import annotations

from datetime import timedelta

from django.db import transaction
from django.db.models import F, Max, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from engine.errors import StoreError
from webapp.lib import disk
from webapp.lib.storage import store
from webapp.reports.models import Paper, Report
from webapp.reports.pdf import NoPdf, obstacle, to_pdf
from workers.app import enqueue

LOST = timedelta(seconds=30)
"""After which a message is sent again, and after which what failed is tried again where somebody asks."""
AT_WORK = timedelta(minutes=1)
"""So long, at most, others wait for a file that a worker has begun."""
STALE = timedelta(minutes=10)
"""After which the worker that began a file must have died."""
MAKING = "The PDF is being made. This takes a few seconds."
AWAY = "The PDF is not being made yet, because the queue of this site does not answer. It is made once that does."
FAILED = "The PDF could not be made; the log of the worker says why. The page and Excel have the same numbers."


class NotYet(Exception):
    """The file is still to be made; the message says how that stands."""


def want(report: Report) -> None:
    """Have it made once the transaction is committed, where this site can make any."""
    if not obstacle():
        Paper.objects.create(report=report)
        transaction.on_commit(send_next, robust=True)


def taken(report: Report) -> bytes:
    """The file. Raises NotYet, once it was seen to that it is made, and NoPdf where none can be."""
    paper = Paper.objects.filter(report=report).first()
    if paper is not None and (kept := _kept(paper)):
        return kept
    if reason := obstacle():
        raise NoPdf(reason)
    if paper is not None and paper.trouble and paper.asked_at > timezone.now() - LOST:
        raise NoPdf(paper.trouble)
    raise NotYet(MAKING if _asked(report, paper) else AWAY)


def standing(report: Report) -> Paper | None:
    """How its file stands; None where nobody asked for one yet."""
    return Paper.objects.filter(report=report).first()


def _kept(paper: Paper) -> bytes:
    try:
        return store().get(paper.digest) if paper.digest else b""
    except StoreError:  # it was lost, and is made anew
        return b""


def _asked(report: Report, paper: Paper | None) -> bool:
    """See to it that a worker makes the file; False while the queue does not answer."""
    if paper is None:
        Paper.objects.get_or_create(report=report)
    elif not paper.waits:
        anew = {"digest": "", "trouble": "", "asked_at": timezone.now(), "sent_at": None, "begun_at": None}
        Paper.objects.filter(pk=paper.pk, digest=paper.digest, trouble=paper.trouble).update(**anew)
    return send_next()


def send_next() -> bool:
    """Send for a worker for the next file that is to be made, unless one was sent for and may still come. False while
    the queue does not answer."""
    now = timezone.now()
    to_make = Paper.objects.filter(digest="", trouble="")
    coming = Q(begun_at__gt=now - AT_WORK) | Q(begun_at=None, sent_at__gt=now - LOST)
    paper = None if to_make.filter(coming).exists() else _in_turn(to_make.filter(_free())).first()
    if paper is None or not to_make.filter(pk=paper.pk, sent_at=paper.sent_at).update(sent_at=now):
        return True
    sent = enqueue("make_pdf", paper.report_id)
    if not sent:
        Paper.objects.filter(pk=paper.pk, sent_at=now).update(sent_at=None)
    return sent


def _in_turn(waiting: QuerySet[Paper]) -> QuerySet[Paper]:
    """The file first of the person for whom none was begun for the longest time; of one person, the oldest wish."""
    own = Paper.objects.filter(report__created_by=OuterRef("report__created_by")).order_by()
    last = own.values("report__created_by").annotate(last=Max("begun_at")).values("last")
    return waiting.annotate(last=Subquery(last)).order_by(F("last").asc(nulls_first=True), "asked_at", "pk")


def _free() -> Q:
    """That no worker makes it."""
    return Q(begun_at=None) | Q(begun_at__lt=timezone.now() - STALE)


def make(report: int) -> None:
    """Make the file of the report of this number, if it is still to be made, nobody makes it, and there is room; then
    send for the next."""
    now = timezone.now()
    if disk.shortage() or not Paper.objects.filter(_free(), report=report, digest="", trouble="").update(begun_at=now):
        return
    made = Report.objects.get(pk=report)
    try:
        changes = {"digest": store().put(to_pdf(made.content, made.content_hash))}
    except NoPdf as error:
        changes = {"trouble": str(error)}
    Paper.objects.filter(report=report, begun_at=now).update(**changes)
    send_next()


def failed(report: int) -> None:
    """Say that its worker could not make it, and send for the next."""
    Paper.objects.filter(report=report, digest="").update(trouble=FAILED)
    send_next()
