// The yardstick: libjpeg-turbo decoding pictures from memory to RGB, one thread.
//
// usage: cdecode LIST     LIST: lines of "path x y w h", a picture and a crop of it
// Reads a mode a line from standard input (whole, crop, eighth), decodes all pictures once, and answers with the
// milliseconds of thread CPU time a picture. The crop uses all the library offers: crop_scanline, skip_scanlines, early stop.
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <jpeglib.h>

struct picture { uint8_t *data; size_t n; int x, y, w, h; };
struct errors { struct jpeg_error_mgr m; jmp_buf out; };

static struct jpeg_decompress_struct ci;
static struct errors err;
static uint8_t *buf;
static size_t cap;

static void die(j_common_ptr c) { longjmp(((struct errors *)c->err)->out, 1); }
static void quiet(j_common_ptr c) { (void)c; }
static void emit(j_common_ptr c, int level) { (void)c; (void)level; }

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

static int decode(const struct picture *p, int denom, int crop) {
  if (setjmp(err.out)) { jpeg_abort_decompress(&ci); return -1; }
  jpeg_mem_src(&ci, p->data, p->n);
  jpeg_read_header(&ci, TRUE);
  ci.out_color_space = JCS_RGB;
  ci.scale_num = 1;
  ci.scale_denom = denom;
  jpeg_start_decompress(&ci);
  JDIMENSION x = 0, width = ci.output_width, y0 = 0, y1 = ci.output_height;
  if (crop) {
    x = p->x; width = p->w; y0 = p->y; y1 = p->y + p->h;
    if (width < ci.output_width) jpeg_crop_scanline(&ci, &x, &width);
    if (y0) jpeg_skip_scanlines(&ci, y0);
  }
  size_t stride = (size_t)ci.output_width * 3;
  if (stride * (y1 - y0) > cap) { jpeg_abort_decompress(&ci); return -1; }
  uint8_t *out = buf;
  while (ci.output_scanline < y1) {
    JSAMPROW rows[8];
    int k = 0;
    for (; k < 8 && ci.output_scanline + k < y1; k++) rows[k] = out + k * stride;
    out += jpeg_read_scanlines(&ci, rows, k) * stride;
  }
  jpeg_abort_decompress(&ci);
  return 0;
}

int main(int argc, char **argv) {
  FILE *l = argc > 1 ? fopen(argv[1], "r") : NULL;
  if (!l) return 2;
  struct picture *ps = NULL;
  int n = 0;
  char line[4096], path[4096], mode[64];
  while (fgets(line, sizeof line, l)) {
    struct picture p;
    if (sscanf(line, "%4095s %d %d %d %d", path, &p.x, &p.y, &p.w, &p.h) != 5) return 2;
    FILE *f = fopen(path, "rb");
    if (!f) return 2;
    fseek(f, 0, SEEK_END);
    p.n = ftell(f);
    rewind(f);
    p.data = malloc(p.n);
    if (fread(p.data, 1, p.n, f) != p.n) return 2;
    fclose(f);
    ps = realloc(ps, (n + 1) * sizeof *ps);
    ps[n++] = p;
  }
  cap = 4096u * 4096 * 3;
  buf = malloc(cap);
  memset(buf, 1, cap);
  ci.err = jpeg_std_error(&err.m);
  err.m.error_exit = die;
  err.m.output_message = quiet;
  err.m.emit_message = emit;
  jpeg_create_decompress(&ci);
  while (scanf("%63s", mode) == 1) {
    double t = now();
    int bad = 0;
    for (int i = 0; i < n; i++) bad |= decode(&ps[i], strcmp(mode, "eighth") ? 1 : 8, !strcmp(mode, "crop"));
    if (bad) return 3;
    printf("%.6f\n", (now() - t) * 1e3 / n);
    fflush(stdout);
  }
  return 0;
}
