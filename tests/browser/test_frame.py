"""The frame of every page: sign-in, menus, themes, toasts; and how each page looks at each width."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib.auth.hashers import make_password
from django.test import override_settings
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.conftest import DESKTOP, PHONE, let_in
from tests.browser.looking import complaints, overflow
from tests.factories import PASSWORD, Studio, person, search_job
from tests.webapp.experiments import experiment, removal
from tests.webapp.round_robins import round_robin
from webapp.accounts import rights
from webapp.balance.saving import ensure_defaults
from webapp.projects.members import invite
from webapp.projects.models import Role
from webapp.studies.models import Job, Status

Enter = Callable[..., Page]


def test_a_designer_signs_in_with_the_email_address_and_out_again(site: str, page: Page, team: Studio) -> None:
    with override_settings(PASSWORD_HASHERS=["django.contrib.auth.hashers.PBKDF2PasswordHasher"]):
        team.designer.password = make_password(PASSWORD)
    team.designer.save()
    page.goto("/p/herobattle/")
    page.get_by_label("User name or email").fill(team.designer.email)
    page.get_by_label("Password").fill(PASSWORD)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Herobattle")
    page.locator("summary", has=page.locator(".initials")).click()
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")


def test_the_choice_of_dark_is_kept_and_there_before_the_first_paint(enter: Enter, team: Studio) -> None:
    page = enter(team.designer)
    page.locator("[data-theme-menu] summary").click()
    page.get_by_role("button", name="Dark").click()
    page.add_init_script(
        "new MutationObserver(() => window.themeAtBody ??= document.body && document.documentElement.dataset.bsTheme)"
        ".observe(document, { childList: true, subtree: true })"
    )
    page.goto("/help/")
    assert page.evaluate("window.themeAtBody") == "dark"
    page.locator("[data-theme-menu] summary").click()
    page.get_by_role("button", name="As this device").click()
    assert page.evaluate("document.documentElement.dataset.bsTheme") == "light"


def test_a_menu_opens_and_closes_by_keyboard_and_gives_the_focus_back(enter: Enter, team: Studio) -> None:
    page = enter(team.designer)
    switcher = page.locator(".switcher > summary")
    switcher.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="New project")).to_have_count(2)
    page.keyboard.press("Tab")
    page.keyboard.press("Escape")
    assert not page.evaluate("document.querySelector('.switcher').open")
    expect(switcher).to_be_focused()


def test_every_place_of_the_bar_is_there_without_scrolling_sideways(enter: Enter, team: Studio) -> None:
    page = enter(team.designer)
    for width in (1200, 1199, 768, 767, 390, 320):
        page.set_viewport_size({"width": width, "height": 844})
        places = page.locator(".places")
        rectangles = "all => all.map((a) => a.getBoundingClientRect()).map(({ left, right }) => [left, right])"
        sides = places.locator("a").evaluate_all(rectangles)
        assert len(sides) == 7
        assert min(left for left, _ in sides) >= 0, width
        assert max(right for _, right in sides) <= width, width
        beyond = "[all.scrollWidth - all.clientWidth, all.scrollHeight - all.clientHeight]"
        assert places.evaluate(f"all => {beyond}") == [0, 0], width
        assert overflow(page) <= 0, width


def test_the_first_tab_stop_skips_the_bar(enter: Enter, team: Studio) -> None:
    page = enter(team.designer)
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the page")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()


def test_a_form_that_fails_takes_the_focus_to_what_is_wrong(enter: Enter, team: Studio) -> None:
    page = enter(team.owner, "/p/herobattle/members/")
    page.get_by_label("User name or email").fill("nobody")
    page.get_by_role("button", name="Invite to Herobattle").click()
    expect(page.get_by_role("alert")).to_be_focused()
    field = page.get_by_label("User name or email")
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(field).to_have_accessible_description("Nobody here goes by this name or address. "
                                                 "Check it, or ask a site operator to make the account.")  # fmt: skip
    expect(field).to_have_value("nobody")


def test_home_shows_a_running_job_and_keeps_up_with_it(enter: Enter, team: Studio) -> None:
    job = Job.objects.create(
        project=team.project, kind="search", title="Which teams are unfair?", config={}, config_hash="",
        status=Status.RUNNING, tick=20, ticks=100, counters={"seconds": 10.0}, created_by=team.designer,
    )  # fmt: skip
    page = enter(team.designer)
    expect(page.get_by_role("progressbar", name=job.title)).to_have_attribute("aria-valuenow", "20")
    Job.objects.filter(pk=job.pk).update(tick=60)
    page.evaluate("htmx.trigger('#home-jobs', 'jobs-changed')")
    expect(page.get_by_role("progressbar", name=job.title)).to_have_attribute("aria-valuenow", "60")


PAGES = {
    "sign in": ("", "/sign-in/"),
    "home": ("designer", "/"),
    "home of somebody who is invited": ("stranger", "/"),
    "help": ("designer", "/help/"),
    "the API's help": ("designer", "/help/api/"),
    "password": ("designer", "/account/password/"),
    "tokens": ("designer", "/account/tokens/"),
    "new project": ("designer", "/projects/new/"),
    "project": ("designer", "/p/herobattle/"),
    "members, as owner": ("owner", "/p/herobattle/members/"),
    "members, as producer": ("producer", "/p/herobattle/members/"),
    "game data": ("designer", "/p/herobattle/data/"),
    "game data, as producer": ("producer", "/p/herobattle/data/"),
    "a version": ("designer", "/p/herobattle/data/versions/14/"),
    "import": ("designer", "/p/herobattle/data/import/"),
    "lineups": ("designer", "/p/herobattle/lineups/"),
    "lineup rules": ("designer", "/p/herobattle/lineups/{rules}/"),
    "objectives": ("designer", "/p/herobattle/objectives/"),
    "one set of objectives": ("designer", "/p/herobattle/objectives/{objectives}/"),
    "job": ("designer", "/p/herobattle/jobs/{job}/"),
    "job, as producer": ("producer", "/p/herobattle/jobs/{job}/"),
    "suspects": ("designer", "/p/herobattle/jobs/{job}/suspects/"),
    "what pieces are worth": ("designer", "/p/herobattle/jobs/{experiment}/"),
    "what is left without suspects": ("designer", "/p/herobattle/jobs/{removal}/"),
    "who beats whom": ("designer", "/p/herobattle/jobs/{metagame}/"),
    "compared searches": ("designer", "/p/herobattle/jobs/compare/?job={job}&job={other}"),
    "suspects, as producer": ("producer", "/p/herobattle/jobs/{job}/suspects/"),
    "simulators": ("engineer", "/admin-tools/simulators/"),
    "a simulator": ("operator", "/admin-tools/simulators/{simulator}/"),
    "new simulator": ("engineer", "/admin-tools/simulators/new/"),
    "people": ("operator", "/admin-tools/people/"),
    "somebody who may register simulators": ("operator", "/admin-tools/people/{engineer}/"),
    "new account": ("operator", "/admin-tools/people/new/"),
    "an address that is not there": ("", "/nowhere/"),
}
"""Those that no other test looks at; ``test_job_page.py`` has New job and the list of jobs, ``test_explore.py`` the
explorer."""


def test_every_page_fits_its_width_and_passes_axe_on_a_desktop_in_light_and_a_phone_in_dark(
    context: BrowserContext, page: Page, site: str, team: Studio
) -> None:
    people = {**vars(team), "operator": person("operator", is_staff=True)}
    rights.grant(team.engineer, people["operator"])
    invite(team.project, team.stranger, Role.OWNER, team.owner, "stranger")
    job = search_job(team.project)
    job.events.create(sequence=1, kind="started", at=job.started_at, body={"workers": 2, "battles": 57600})
    other = Job.objects.get(pk=job.pk)
    other.pk = None
    other.save()
    beside = {"experiment": experiment(job).pk, "removal": removal(job).pk, "metagame": round_robin(job).pk}
    rules, objectives = ensure_defaults(team.project, team.designer)
    ids = {"job": job.pk, "rules": rules.pk, "objectives": objectives.pk, "simulator": job.game_version.simulator_id}
    ids |= {"engineer": team.engineer.pk, "other": other.pk, **beside}
    found = []
    for name, (who, path) in PAGES.items():
        context.clear_cookies()
        if who:
            let_in(context, site, people[who])
        page.goto(path.format_map(ids))
        found += [f"{name}, {told}" for told in complaints(page, DESKTOP, PHONE)]
    assert not found, "\n".join(found)
