"""What the API puts into the accounts."""

from django.apps import AppConfig


class Api(AppConfig):
    """Ends the tokens of whoever is switched off."""

    name = "webapp.api"

    def ready(self) -> None:
        from webapp.accounts.rights import switched
        from webapp.api import tokens

        switched.connect(tokens.end_with_account)
