/** @file
 * What `nanlens run` loads into a program (LD_PRELOAD): waits until a host library that nanlens knows is in the
 * process, linked or opened later, has the command find its adapter, and opens that. An adapter that has to stand
 * before its library, since it defines the same functions, is loaded by starting the program once more. Needs nothing
 * but the C library, since it is in every child of the program, too.
 *
 * Read from the environment: NANLENS_COMMAND, the command; NANLENS_HOSTS, which hosts (a list with commas; all if it is
 * not set); NANLENS_HOST_LIBRARY, "NAME=LIBRARY", a host beside those below; NANLENS_RUN_MARK, a file that is made once
 * an adapter is in the process. NANLENS_STARTED_AGAIN is its own: the process that was started once more.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "preload.h"

extern char** environ;

/** ONNX Runtime's OrtApiBase. */
struct onnx_base;
typedef const struct onnx_base* onnx_base_function(void);
typedef const struct onnx_base* onnx_hook_function(const struct onnx_base*);

/** A library that has an adapter: by its file's name, which a version may follow (".so.1.13"). */
struct host {
  char name[64];
  char library[128];
  atomic_bool handled;
  char path[4096];  /**< of the library, once it is there */
  const char* mark; /**< a symbol of an adapter that has to stand before the library; NULL: it need not */
};

static struct host hosts[] = {{"torch", "libtorch_cpu.so", 0, "", NULL},
                              {"ggml", "libggml-base.so", 0, "", NULL},
                              {"ggml", "libggml.so", 0, "", NULL},
                              {"ggml", "libllama.so", 0, "", NULL},
                              {"mpi", "libmpi.so", 0, "", "nanlens_follows_mpi"},
                              {"mpi", "libmpich.so", 0, "", "nanlens_follows_mpi"},
                              {"", "", 0, "", NULL}};
enum { num_hosts = sizeof hosts / sizeof *hosts };

static atomic_bool main_has_begun;
static __thread int opening __attribute__((tls_model("initial-exec"))); /* calls of dlopen under way in this thread */

typedef int main_function(int, char**, char**);
typedef int start_function(main_function*, int, char**, void (*)(void), void (*)(void), void (*)(void), void*);

open_function* real_dlopen(void) {
  static open_function* _Atomic found;
  if (found == NULL) found = (open_function*)dlsym(RTLD_NEXT, "dlopen");
  return found;
}

/* "a,b,c": is the name in it? */
static int is_listed(const char* list, const char* name) {
  const size_t length = strlen(name);
  for (const char* at = list; at != NULL && *at != '\0'; at = strchr(at, ',')) {
    if (*at == ',') ++at;
    if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0')) return 1;
  }
  return 0;
}

static void read_hosts(void) {
  const char* const more = getenv("NANLENS_HOST_LIBRARY");
  const char* const wanted = getenv("NANLENS_HOSTS");
  const char* const equals = more == NULL ? NULL : strchr(more, '=');
  struct host* const last = &hosts[num_hosts - 1];
  if (equals != NULL && (size_t)(equals - more) < sizeof last->name && strlen(equals) <= sizeof last->library) {
    memcpy(last->name, more, (size_t)(equals - more));
    strcpy(last->library, equals + 1);
  }
  for (int i = 0; i < num_hosts; ++i)
    if (*hosts[i].name == '\0' || (wanted != NULL && !is_listed(wanted, hosts[i].name))) hosts[i].handled = 1;
}

static int note_library(struct dl_phdr_info* info, size_t size, void* data) {
  (void)size;
  (void)data;
  const char* const slash = strrchr(info->dlpi_name, '/');
  const char* const file = slash == NULL ? info->dlpi_name : slash + 1;
  for (int i = 0; i < num_hosts; ++i) {
    const size_t length = strlen(hosts[i].library);
    if (hosts[i].handled || strncmp(file, hosts[i].library, length) != 0) continue;
    if ((file[length] == '\0' || file[length] == '.') && strlen(info->dlpi_name) < sizeof hosts[i].path)
      strcpy(hosts[i].path, info->dlpi_name);
  }
  return 0;
}

/* The environment without what is preloaded: the command is not to be watched. Freed by the caller, the texts not. */
static char** plain_environment(void) {
  size_t count = 0;
  while (environ[count] != NULL) ++count;
  char** const result = calloc(count + 1, sizeof *result);
  size_t kept = 0;
  for (size_t i = 0; result != NULL && i < count; ++i)
    if (strncmp(environ[i], "LD_PRELOAD=", 11) != 0) result[kept++] = environ[i];
  return result;
}

static int spawn_command(const struct host* host, int output, pid_t* process) {
  const char* const command = getenv("NANLENS_COMMAND");
  char* const words[] = {(char*)"nanlens", (char*)"adapter", (char*)host->name, (char*)host->path, NULL};
  char** const environment = plain_environment();
  posix_spawn_file_actions_t actions;
  if (command == NULL || environment == NULL || posix_spawn_file_actions_init(&actions) != 0) {
    free(environment);
    return 0;
  }
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  const int error = posix_spawn(process, command, &actions, NULL, words, environment);
  posix_spawn_file_actions_destroy(&actions);
  free(environment);
  return error == 0;
}

/* The first line of what the command prints: the adapter's path. Empty if it has none; then it has said why. */
static void ask_for_adapter(const struct host* host, char* line, size_t size) {
  int ends[2];
  pid_t process = 0;
  size_t length = 0;
  *line = '\0';
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  const int started = spawn_command(host, ends[1], &process);
  close(ends[1]);
  for (ssize_t n = 1; started && length + 1 < size && n != 0;) {
    n = read(ends[0], line + length, size - 1 - length);
    if (n < 0 && errno != EINTR) break;
    if (n > 0) length += (size_t)n;
  }
  close(ends[0]);
  line[length] = '\0';
  line[strcspn(line, "\n")] = '\0';
  int status = 0;
  while (started && waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  if (!started) fprintf(stderr, "nanlens: %s is not recorded: the nanlens command can't be started\n", host->name);
  if (status != 0) *line = '\0';
}

static void make_mark(void) {
  const char* const mark = getenv("NANLENS_RUN_MARK");
  const int file = mark == NULL ? -1 : open(mark, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
  if (file >= 0) close(file);
}

static char** program_words; /* its command line, until its main has begun */

/* The environment as it was, and the adapter before all that is preloaded. */
static int preload(const char* adapter) {
  char list[8192];
  char self[32];
  const char* const others = getenv("LD_PRELOAD");
  const int length =
      snprintf(list, sizeof list, "%s%s%s", adapter, others == NULL ? "" : ":", others == NULL ? "" : others);
  snprintf(self, sizeof self, "%ld", (long)getpid());
  return length > 0 && (size_t)length < sizeof list && strpbrk(adapter, " :") == NULL &&
         setenv("LD_PRELOAD", list, 1) == 0 && setenv("NANLENS_STARTED_AGAIN", self, 1) == 0;
}

/* The program's children need no adapter that may not be theirs: they find their own. */
static void unload_from_children(void) {
  const char* const list = getenv("LD_PRELOAD");
  const char* const rest = list == NULL ? NULL : strchr(list, ':');
  if (rest != NULL) setenv("LD_PRELOAD", rest + 1, 1);
  unsetenv("NANLENS_STARTED_AGAIN");
}

static void start_again_with_adapter(const struct host* host) {
  char path[4096];
  char adapter[4096];
  const char* const started = getenv("NANLENS_STARTED_AGAIN");
  const int again = started != NULL && strtol(started, NULL, 10) == (long)getpid();
  if (again) unload_from_children();
  if (dlsym(RTLD_DEFAULT, host->mark) != NULL) {
    make_mark();
    return;
  }
  if (program_words == NULL || again) {
    fprintf(stderr, "nanlens: %s is not recorded: %s\n", host->name,
            again ? "its adapter can't be loaded before it" : "the program opens it while it runs; link it");
    return;
  }
  ask_for_adapter(host, adapter, sizeof adapter);
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  if (*adapter == '\0') return;
  if (length > 0 && preload(adapter)) {
    path[length] = '\0';
    execve(path, program_words, environ);
    unload_from_children();
  }
  fprintf(stderr, "nanlens: %s is not recorded: the program can't be started again with its adapter\n", host->name);
}

/* The first library of a host that comes; others have its name, too. */
static void open_adapter(const struct host* host) {
  if (host->mark != NULL) {
    start_again_with_adapter(host);
    return;
  }
  char adapter[4096];
  for (int i = 0; i < num_hosts; ++i)
    if (strcmp(hosts[i].name, host->name) == 0) hosts[i].handled = 1;
  ask_for_adapter(host, adapter, sizeof adapter);
  if (*adapter == '\0') return;
  if (real_dlopen()(adapter, RTLD_NOW | RTLD_LOCAL) == NULL)
    fprintf(stderr, "nanlens: %s is not recorded: %s\n", host->name, dlerror());
  else
    make_mark();
}

/* Opens the adapters of hosts that have come. Never while a library is being opened: its constructors may run. */
static void look_for_hosts(void) {
  const int error = errno;
  int all = 1;
  for (int i = 0; i < num_hosts; ++i) all = all && hosts[i].handled;
  if (all || !main_has_begun) return;
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  ++opening;
  pthread_mutex_lock(&lock);
  dl_iterate_phdr(note_library, NULL);
  for (int i = 0; i < num_hosts; ++i)
    if (*hosts[i].path != '\0' && !atomic_exchange(&hosts[i].handled, 1)) open_adapter(&hosts[i]);
  pthread_mutex_unlock(&lock);
  --opening;
  errno = error;
}

static main_function* program_main;

static int begin_main(int argc, char** argv, char** environment) {
  main_has_begun = 1;
  program_words = argv;
  look_for_hosts();
  program_words = NULL;
  return program_main(argc, argv, environment);
}

__attribute__((visibility("default"))) int __libc_start_main(main_function* main, int argc, char** argv,
                                                             void (*init)(void), void (*fini)(void),
                                                             void (*rtld_fini)(void), void* stack_end) {
  start_function* const next = (start_function*)dlsym(RTLD_NEXT, "__libc_start_main");
  program_main = main;
  read_hosts();
  return next(begin_main, argc, argv, init, fini, rtld_fini, stack_end);
}

/* Where the loader looks for what the library or program at this address opens. Freed by the caller; NULL if it can't
   be told. */
static Dl_serinfo* search_list(void* address) {
  Dl_info info;
  Dl_serinfo sizes;
  struct link_map* map = NULL;
  if (dladdr1(address, &info, (void**)&map, RTLD_DL_LINKMAP) == 0 || map == NULL) return NULL;
  void* const owner = real_dlopen()(*map->l_name == '\0' ? NULL : map->l_name, RTLD_LAZY | RTLD_NOLOAD);
  if (owner == NULL) return NULL;
  Dl_serinfo* list = dlinfo(owner, RTLD_DI_SERINFOSIZE, &sizes) == 0 ? malloc(sizes.dls_size) : NULL;
  if (list != NULL && (dlinfo(owner, RTLD_DI_SERINFOSIZE, list) != 0 || dlinfo(owner, RTLD_DI_SERINFO, list) != 0)) {
    free(list);
    list = NULL;
  }
  dlclose(owner);
  return list;
}

/* How many places come before those that are the same for all, at the end of both lists. */
static unsigned count_own(const Dl_serinfo* list, const Dl_serinfo* ours) {
  unsigned count = list->dls_cnt;
  for (unsigned rest = ours->dls_cnt; count > 0 && rest > 0; --count, --rest)
    if (strcmp(list->dls_serpath[count - 1].dls_name, ours->dls_serpath[rest - 1].dls_name) != 0) break;
  return count;
}

/* Where the caller's own search path has the library, as the loader would look there: it looks for us, who stand
   between it and the caller, in ours. */
static void* open_by_search_path(const char* name, int flags, void* caller) {
  Dl_serinfo* const list = search_list(caller);
  Dl_serinfo* const ours = search_list((void*)hosts);
  const unsigned count = list == NULL || ours == NULL ? 0 : count_own(list, ours);
  void* opened = NULL;
  for (unsigned i = 0; i < count && opened == NULL; ++i) {
    char path[4096];
    const int length = snprintf(path, sizeof path, "%s/%s", list->dls_serpath[i].dls_name, name);
    if (length > 0 && (size_t)length < sizeof path && access(path, R_OK) == 0) opened = real_dlopen()(path, flags);
  }
  free(list);
  free(ours);
  return opened;
}

/* "$ORIGIN/…" is beside the caller. */
static const char* with_origin(const char* name, void* caller, char* path, size_t size) {
  const char* const rest = strncmp(name, "$ORIGIN", 7) == 0     ? name + 7
                           : strncmp(name, "${ORIGIN}", 9) == 0 ? name + 9
                                                                : NULL;
  Dl_info info;
  char file[4096];
  if (rest == NULL || dladdr(caller, &info) == 0 || realpath(info.dli_fname, file) == NULL) return name;
  *strrchr(file, '/') = '\0';
  const int length = snprintf(path, size, "%s%s", file, rest);
  return length > 0 && (size_t)length < size ? path : name;
}

static void* open_for(const char* name, int flags, void* caller) {
  char path[4096];
  if (name == NULL || *name == '\0') return real_dlopen()(name, flags);
  if (strchr(name, '/') != NULL) return real_dlopen()(with_origin(name, caller, path, sizeof path), flags);
  void* opened = real_dlopen()(name, flags | RTLD_NOLOAD); /* one that is there already has precedence */
  if (opened == NULL && (flags & RTLD_NOLOAD) == 0) opened = open_by_search_path(name, flags, caller);
  return opened != NULL ? opened : real_dlopen()(name, flags);
}

__attribute__((visibility("default"))) void* dlopen(const char* name, int flags) {
  ++opening;
  void* const opened = open_for(name, flags, __builtin_return_address(0));
  --opening;
  if (opened != NULL) {
    (void)dlerror(); /* of what was tried on the way */
    if (opening == 0) look_for_hosts();
  }
  return opened;
}

static int note_onnx_library(struct dl_phdr_info* info, size_t size, void* path) {
  (void)size;
  if (strstr(info->dlpi_name, "libonnxruntime.so") == NULL || strlen(info->dlpi_name) >= 4096) return 0;
  strcpy(path, info->dlpi_name);
  return 1;
}

/* The library's own function, be it linked or opened for its caller alone. */
__attribute__((visibility("default"))) const struct onnx_base* OrtGetApiBase(void);
static onnx_base_function* real_onnx(void) {
  char path[4096] = "";
  onnx_base_function* found = (onnx_base_function*)dlsym(RTLD_NEXT, "OrtGetApiBase");
  if (found != NULL || dl_iterate_phdr(note_onnx_library, path) == 0) return found;
  void* const library = real_dlopen()(path, RTLD_LAZY | RTLD_NOLOAD);
  if (library != NULL) found = (onnx_base_function*)dlsym(library, "OrtGetApiBase");
  return found == &OrtGetApiBase ? NULL : found;
}

/* libnanlens_onnx.so lies beside this library. */
static onnx_hook_function* onnx_hook(void) {
  const char* const wanted = getenv("NANLENS_HOSTS");
  Dl_info info;
  char path[4096];
  if ((wanted != NULL && !is_listed(wanted, "onnx")) || dladdr((void*)hosts, &info) == 0) return NULL;
  const char* const slash = strrchr(info.dli_fname, '/');
  const int folder = slash == NULL ? 0 : (int)(slash - info.dli_fname) + 1;
  const int length = snprintf(path, sizeof path, "%.*slibnanlens_onnx.so", folder, info.dli_fname);
  if (length < 0 || (size_t)length >= sizeof path) return NULL;
  void* const library = real_dlopen()(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    fprintf(stderr, "nanlens: onnx is not recorded: %s\n", dlerror());
    return NULL;
  }
  make_mark();
  return (onnx_hook_function*)dlsym(library, "nanlens_onnx_hook");
}

static const struct onnx_base* onnx_found;
static void find_onnx(void) {
  onnx_base_function* const real = real_onnx();
  const struct onnx_base* const base = real == NULL ? NULL : real();
  onnx_hook_function* const hook = base == NULL ? NULL : onnx_hook();
  onnx_found = hook == NULL ? base : hook(base);
}

/* ONNX Runtime's way in. Its C API is a table that a program gets here, so that its sessions can be recorded. */
const struct onnx_base* OrtGetApiBase(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, find_onnx);
  return onnx_found;
}
