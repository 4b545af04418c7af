"""The addresses of the pages, below whatever root path a proxy adds."""

from fastapi import Request

from sakuin.app.contexts import Site


def root_of(request: Request) -> str:
    """Return the root path, "" or /prefix."""
    return str(request.scope.get("root_path", "")).rstrip("/")


def site_of(request: Request) -> Site:
    """Return what every page links to."""
    root = root_of(request)
    return Site(
        home=f"{root}/",
        search=f"{root}/search",
        add=None if request.app.state.installation.settings.read_only else f"{root}/add",
        api=f"{root}/api/v1/openapi.json",
        style=f"{root}/static/style.css",
        script=f"{root}/static/search.js",
        icon=f"{root}/static/icon.svg",
        suggest=f"{root}/api/v1/suggest",
    )
