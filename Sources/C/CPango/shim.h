#include <cairo-pdf.h>
#include <pango/pangocairo.h>

// Casts by macro, which Swift does not import.
static inline void drover_pango_free(PangoLayout *layout) { g_object_unref(layout); }
