"""Addresses of signing in and of the people of the site."""

from django.contrib.auth.views import LogoutView
from django.urls import path

from webapp.accounts import views
from webapp.lib.posts import posts_only

app_name = "accounts"
urlpatterns = [
    path("sign-in/", views.SignIn.as_view(), name="sign-in"),
    path("sign-out/", posts_only("projects:home")(LogoutView.as_view()), name="sign-out"),
    path("account/password/", views.ChangePassword.as_view(), name="password"),
    path("admin-tools/people/", views.people, name="people"),
    path("admin-tools/people/new/", views.new_person, name="person-new"),
    path("admin-tools/people/<int:pk>/", views.person, name="person"),
]
