"""Addresses of searches for styles of play: composing one, and its style map. Its live page is a job's."""

from webapp.styles import map_urls

app_name = "styles"

urlpatterns = [*map_urls.urlpatterns]
