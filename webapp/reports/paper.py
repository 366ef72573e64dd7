"""Reports as PDF files, each made once by a worker of the ``quick`` queue and kept in the store: setting one takes
seconds of processor, which no request waits for.

The row says what is wanted and how that stands; the message to the worker carries only the report's number. One that
was lost is sent again by the reconciler.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

from engine.errors import StoreError
from webapp.lib import disk
from webapp.lib.storage import store
from webapp.reports.models import Paper, Report
from webapp.reports.pdf import NoPdf, obstacle, to_pdf
from workers.app import enqueue

LOST = timedelta(seconds=30)
"""After which a message is sent again, and after which what failed is tried again where somebody asks."""
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
        paper = Paper.objects.create(report=report)
        transaction.on_commit(lambda: send(paper), robust=True)


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
        paper, _ = Paper.objects.get_or_create(report=report)
    elif not paper.waits:
        anew = {"digest": "", "trouble": "", "asked_at": timezone.now(), "sent_at": None, "begun_at": None}
        Paper.objects.filter(pk=paper.pk, digest=paper.digest, trouble=paper.trouble).update(**anew)
    return send(paper)


def send(paper: Paper) -> bool:
    """Send for a worker, unless that was done a moment ago. False while the queue does not answer."""
    now = timezone.now()
    if not _waiting(now - LOST).filter(pk=paper.pk).update(sent_at=now):
        return True
    sent = enqueue("make_pdf", paper.report_id)
    if not sent:
        Paper.objects.filter(pk=paper.pk, sent_at=now).update(sent_at=None)
    return sent


def send_waiting() -> None:
    """Send for a worker for every file that waits for one, the oldest first, while the queue answers."""
    for paper in _waiting(timezone.now() - LOST).order_by("asked_at"):
        if not send(paper):
            return


def _waiting(lost: datetime) -> QuerySet[Paper]:
    """Files to be made, and not sent for since ``lost``."""
    to_make = Paper.objects.filter(digest="", trouble="").filter(_free())
    return to_make.filter(Q(sent_at=None) | Q(sent_at__lt=lost))


def _free() -> Q:
    """That no worker makes it."""
    return Q(begun_at=None) | Q(begun_at__lt=timezone.now() - STALE)


def make(report: int) -> None:
    """Make the file of the report of this number, if it is still to be made, nobody makes it, and there is room."""
    now = timezone.now()
    if disk.shortage() or not Paper.objects.filter(_free(), report=report, digest="", trouble="").update(begun_at=now):
        return
    made = Report.objects.get(pk=report)
    try:
        changes = {"digest": store().put(to_pdf(made.content, made.content_hash))}
    except NoPdf as error:
        changes = {"trouble": str(error)}
    Paper.objects.filter(report=report, begun_at=now).update(**changes)


def failed(report: int) -> None:
    """Say that its worker could not make it."""
    Paper.objects.filter(report=report, digest="").update(trouble=FAILED)
