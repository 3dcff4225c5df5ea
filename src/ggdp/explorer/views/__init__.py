"""The views of the explorer, in the order of its navigation."""

from ggdp.explorer.added_views import added_views
from ggdp.explorer.views.budget_view import BUDGET
from ggdp.explorer.views.noise_view import ATTACKER, NOISE
from ggdp.explorer.views.release_view import RELEASE
from ggdp.explorer.views.table_view import CELLS_PER_UNIT, TABLE

VIEWS = (NOISE, ATTACKER, TABLE, CELLS_PER_UNIT, BUDGET, RELEASE, *added_views())
