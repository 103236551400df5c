/* The yardstick of processor time: our picture steps in C on libjpeg-turbo, in one thread. It reads each file below a
   folder, draws a crop as RandomResizedCrop does, decodes only its rows and columns, scales it to 224 with a triangle that
   averages, mirrors every second one, normalizes, and writes float32 planes into a batch buffer that is used again.
   Unlike ours it does not read what lies below the crop, hashes nothing, and gives the files in no random order.

   usage: picture FOLDER JSON      then one line of input for each pass; see side.py for the answers
   cc -O3 -march=native -ffast-math -o picture picture.c -ljpeg -lm */
#define _XOPEN_SOURCE 700
#include <ftw.h>
#include <math.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <jpeglib.h>

enum { SIZE = 224, BATCH = 64, TAPS = 96 };

static char **paths;
static int count;

static int add(const char *path, const struct stat *st, int type, struct FTW *f) {
  (void)st; (void)f;
  if (type != FTW_F) return 0;
  paths = realloc(paths, (count + 1) * sizeof *paths);
  paths[count++] = strdup(path);
  return 0;
}

static double seconds(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

static uint64_t state = 88172645463325252ull;

static double draw(void) {
  state ^= state << 13; state ^= state >> 7; state ^= state << 17;
  return (state >> 11) * (1.0 / 9007199254740992.0);
}

static void crop_of(int w, int h, int *x, int *y, int *cw, int *ch) {
  for (int i = 0; i < 10; i++) {
    double area = (double)w * h * (.08 + .92 * draw()), ratio = exp(log(.75) + draw() * (log(4 / 3.) - log(.75)));
    *cw = (int)lround(sqrt(area * ratio));
    *ch = (int)lround(sqrt(area / ratio));
    if (*cw > 0 && *ch > 0 && *cw <= w && *ch <= h) {
      *x = draw() * (w - *cw + 1);
      *y = draw() * (h - *ch + 1);
      return;
    }
  }
  *x = *y = 0; *cw = w; *ch = h;
}

struct trap { struct jpeg_error_mgr m; jmp_buf to; };
static void die(j_common_ptr c) { longjmp(((struct trap *)c->err)->to, 1); }
static void quiet(j_common_ptr c) { (void)c; }
static void emit(j_common_ptr c, int level) { (void)c; (void)level; }

static uint8_t *pixels;
static size_t pixel_room;

/* region decodes the rows and columns of a random crop. ox is where the crop begins in the decoded rows. */
static int region(struct jpeg_decompress_struct *ci, const uint8_t *src, size_t n, int *ox, int *cw, int *ch, int *width) {
  struct trap *e = (struct trap *)ci->err;
  if (setjmp(e->to)) { jpeg_abort_decompress(ci); return -1; }
  jpeg_mem_src(ci, src, n);
  jpeg_read_header(ci, TRUE);
  ci->out_color_space = JCS_RGB;
  int x, y;
  crop_of(ci->image_width, ci->image_height, &x, &y, cw, ch);
  jpeg_start_decompress(ci);
  JDIMENSION left = x, wide = *cw;
  if (wide < ci->output_width) jpeg_crop_scanline(ci, &left, &wide);
  *ox = x - left;
  if (y) jpeg_skip_scanlines(ci, y);
  size_t stride = (size_t)ci->output_width * 3;
  if (stride * *ch > pixel_room) pixels = realloc(pixels, pixel_room = stride * *ch);
  uint8_t *p = pixels;
  for (JDIMENSION end = y + *ch; ci->output_scanline < end;) {
    JSAMPROW rows[8];
    int k = 0;
    for (; k < 8 && ci->output_scanline + k < end; k++) rows[k] = p + k * stride;
    p += jpeg_read_scanlines(ci, rows, k) * stride;
  }
  *width = ci->output_width;
  jpeg_abort_decompress(ci);
  return 0;
}

/* taps are the weights of a triangle that averages where the crop is larger than the result. */
static int taps(int i, float from, float step, int low, int high, float *weight) {
  float reach = step > 1 ? step : 1, c = from + (i + .5f) * step, sum = 0;
  int a = (int)floorf(c - reach + .5f), b = (int)floorf(c + reach + .5f);
  if (a < low) a = low;
  if (b > high) b = high;
  if (b - a > TAPS) b = a + TAPS;
  for (int k = a; k < b; k++) {
    float v = 1 - fabsf((k + .5f - c) / reach);
    weight[k - a] = v < 0 ? 0 : v;
    sum += weight[k - a];
  }
  for (int k = 0; k < b - a; k++) weight[k] /= sum;
  return a | (b - a) << 20;
}

/* scale works down a column first, for that runs along the row, then across, and normalizes. */
static void scale(int stride, int x, int w, int h, int flip, float *out) {
  static float middle_row[3 * 70000], across[SIZE][TAPS], down[TAPS];
  static int at[SIZE];
  static const float mean[3] = {.485f, .456f, .406f}, sd[3] = {.229f, .224f, .225f};
  for (int i = 0; i < SIZE; i++) at[i] = taps(i, x, (float)w / SIZE, x, x + w, across[i]);
  int c0 = x * 3, c1 = (x + w) * 3;
  for (int j = 0; j < SIZE; j++) {
    int t = taps(j, 0, (float)h / SIZE, 0, h, down), a = t & 0xfffff, n = t >> 20;
    const uint8_t *r = pixels + (size_t)a * stride;
    for (int i = c0; i < c1; i++) middle_row[i] = down[0] * r[i];
    for (int k = 1; k < n; k++) {
      r += stride;
      for (int i = c0; i < c1; i++) middle_row[i] += down[k] * r[i];
    }
    for (int i = 0; i < SIZE; i++) {
      const float *m = middle_row + (at[i] & 0xfffff) * 3, *q = across[i];
      float red = 0, green = 0, blue = 0;
      for (int k = 0; k < at[i] >> 20; k++) {
        red += q[k] * m[3 * k];
        green += q[k] * m[3 * k + 1];
        blue += q[k] * m[3 * k + 2];
      }
      float *o = out + j * SIZE + (flip ? SIZE - 1 - i : i);
      o[0] = (red * (1 / 255.f) - mean[0]) / sd[0];
      o[SIZE * SIZE] = (green * (1 / 255.f) - mean[1]) / sd[1];
      o[2 * SIZE * SIZE] = (blue * (1 / 255.f) - mean[2]) / sd[2];
    }
  }
}

int main(int argc, char **argv) {
  if (argc < 2 || nftw(argv[1], add, 16, FTW_PHYS) || !count) {
    fprintf(stderr, "usage: picture FOLDER JSON; no files below the folder\n");
    return 1;
  }
  struct jpeg_decompress_struct ci;
  struct trap e;
  ci.err = jpeg_std_error(&e.m);
  e.m.error_exit = die; e.m.output_message = quiet; e.m.emit_message = emit;
  jpeg_create_decompress(&ci);
  float *batch = malloc(sizeof(float) * BATCH * 3 * SIZE * SIZE);
  uint8_t *file = NULL;
  size_t room = 0;
  printf("{\"version\": \"libjpeg-turbo, JPEG library version %d\"}\n", JPEG_LIB_VERSION);
  fflush(stdout);
  char line[4096];
  while (fgets(line, sizeof line, stdin)) {
    double wall = seconds(CLOCK_MONOTONIC), cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
    int bad = 0;
    for (int i = 0; i < count; i++) {
      FILE *f = fopen(paths[i], "rb");
      if (!f) { bad++; continue; }
      fseek(f, 0, SEEK_END);
      size_t n = ftell(f);
      rewind(f);
      if (n > room) file = realloc(file, room = n);
      n = fread(file, 1, n, f);
      fclose(f);
      int x, w, h, width;
      if (region(&ci, file, n, &x, &w, &h, &width)) { bad++; continue; }
      scale(width * 3, x, w, h, i & 1, batch + (size_t)(i % BATCH) * 3 * SIZE * SIZE);
    }
    if (bad) { fprintf(stderr, "%d files could not be decoded\n", bad); return 1; }
    printf("{\"seconds\": %.6f, \"cpu\": %.6f, \"items\": %d, \"batches\": %d}\n", seconds(CLOCK_MONOTONIC) - wall,
           seconds(CLOCK_PROCESS_CPUTIME_ID) - cpu, count, (count + BATCH - 1) / BATCH);
    fflush(stdout);
  }
  return 0;
}
