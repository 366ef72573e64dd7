"""Addresses of saved agents and of battles to watch."""

from django.urls import path

from webapp.agents import playing, views, watching

app_name = "agents"

_AGENT = "p/<slug:slug>/agents/<int:pk>/"
_WATCH = "p/<slug:slug>/watch/"

urlpatterns = [
    path("p/<slug:slug>/agents/", views.agents, name="list"),
    path("p/<slug:slug>/agents/measure-old/", views.measure_old, name="measure-old"),
    path("p/<slug:slug>/jobs/<int:pk>/keep/", views.keep, name="keep"),
    path("p/<slug:slug>/jobs/<int:pk>/watch/", watching.watch_left, name="watch-left"),
    path(_AGENT, views.agent, name="agent"),
    path(f"{_AGENT}undo/", views.undo, name="undo"),
    path(f"{_AGENT}delete/", views.delete, name="delete"),
    path(f"{_AGENT}measure/", views.measure, name="measure"),
    path(f"{_AGENT}agent.zip", views.take_home, name="take-home"),
    path(f"{_AGENT}clip.json", views.clip, name="clip"),
    path(f"{_AGENT}play/", playing.play, name="play"),
    path(f"{_AGENT}weights/", playing.weights, name="weights"),
    path(_WATCH, watching.watch, name="watch"),
    path(f"{_WATCH}<int:pk>/", watching.battles, name="battles"),
    path(f"{_WATCH}<int:pk>/again/", watching.another, name="another"),
    path(f"{_WATCH}<int:pk>/battles.json", watching.battles_data, name="battles-data"),
]
