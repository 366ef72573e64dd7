"""Addresses of home, projects, members and help."""

from django.urls import path

from webapp.projects import views

app_name = "projects"
urlpatterns = [
    path("", views.home, name="home"),
    path("help/", views.help_page, name="help"),
    path("projects/new/", views.create, name="create"),
    path("invitations/<int:pk>/", views.invitation, name="invitation"),
    path("p/<slug:slug>/", views.detail, name="detail"),
    path("p/<slug:slug>/members/", views.members, name="members"),
    path("p/<slug:slug>/members/<int:pk>/", views.change_member, name="member-change"),
    path("p/<slug:slug>/members/<int:pk>/remove/", views.remove_member, name="member-remove"),
    path("p/<slug:slug>/members/leave/", views.leave, name="leave"),
    path("p/<slug:slug>/members/invitations/<int:pk>/", views.take_back, name="invitation-back"),
]
