/* Preloaded into a process: counts what threads named rt:... must not do, and proves that it sees it done by others.

   Allocation: malloc, calloc, realloc, free, mmap and munmap are ours.

   Python: an interpreter that is the program itself cannot be replaced by a preloaded library. So `poison_python`
   goes through the jump tables of all loaded modules, and has every entry for a Py... or _Py... function lead
   through a stub that counts and goes on to the function. Called once all modules are loaded. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { MOST = 16384, STUB_BYTES = 32, NAMES = 32 };

static long allocated[2], called[2]; /* elsewhere, in a cycle */
static const char *caught[NAMES];    /* names of the functions that a cycle called */
static long n_caught;

static int in_cycle(void) {
    char name[16];
    prctl(PR_GET_NAME, name);
    return !strncmp(name, "rt:", 3);
}
static void note_allocation(void) { __atomic_fetch_add(&allocated[in_cycle()], 1, __ATOMIC_RELAXED); }

long poison_allocated(int cycle) { return __atomic_load_n(&allocated[cycle], __ATOMIC_RELAXED); }
long poison_called(int cycle) { return __atomic_load_n(&called[cycle], __ATOMIC_RELAXED); }
const char *poison_caught(long i) { return i < NAMES && i < n_caught ? caught[i] : 0; }

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void __libc_free(void *);
void *malloc(size_t n) { note_allocation(); return __libc_malloc(n); }
void *calloc(size_t n, size_t m) { note_allocation(); return __libc_calloc(n, m); }
void *realloc(void *p, size_t n) { note_allocation(); return __libc_realloc(p, n); }
void free(void *p) { if (p) note_allocation(); __libc_free(p); }
void *mmap(void *a, size_t n, int p, int f, int d, off_t o) {
    static void *(*real)(void *, size_t, int, int, int, off_t);
    if (!real) real = dlsym(RTLD_NEXT, "mmap");
    note_allocation();
    return real(a, n, p, f, d, o);
}
int munmap(void *a, size_t n) {
    static int (*real)(void *, size_t);
    if (!real) real = dlsym(RTLD_NEXT, "munmap");
    note_allocation();
    return real(a, n);
}

#if defined(__x86_64__)
static struct { void *function; const char *name; } entry[MOST];
static long n_entries;

/* called by the stubs with the number of an entry; returns where to go on */
__attribute__((used)) static void *poison_note(long i) {
    int cycle = in_cycle();
    __atomic_fetch_add(&called[cycle], 1, __ATOMIC_RELAXED);
    if (cycle && n_caught < NAMES) caught[n_caught++] = entry[i].name;
    return entry[i].function;
}

/* all registers that may hold arguments are kept; the number on the stack becomes the address to return to */
__asm__(".text\n"
        "poison_common:\n"
        "push %rax; push %rdi; push %rsi; push %rdx; push %rcx; push %r8; push %r9; push %r10; push %r11\n"
        "sub $136, %rsp\n"
        "movups %xmm0, (%rsp); movups %xmm1, 16(%rsp); movups %xmm2, 32(%rsp); movups %xmm3, 48(%rsp)\n"
        "movups %xmm4, 64(%rsp); movups %xmm5, 80(%rsp); movups %xmm6, 96(%rsp); movups %xmm7, 112(%rsp)\n"
        "mov 208(%rsp), %rdi\n"
        "call poison_note\n"
        "mov %rax, 208(%rsp)\n"
        "movups (%rsp), %xmm0; movups 16(%rsp), %xmm1; movups 32(%rsp), %xmm2; movups 48(%rsp), %xmm3\n"
        "movups 64(%rsp), %xmm4; movups 80(%rsp), %xmm5; movups 96(%rsp), %xmm6; movups 112(%rsp), %xmm7\n"
        "add $136, %rsp\n"
        "pop %r11; pop %r10; pop %r9; pop %r8; pop %rcx; pop %rdx; pop %rsi; pop %rdi; pop %rax\n"
        "ret\n");
extern char poison_common[];
__asm__(".hidden poison_common");

static void *stub_for(unsigned char *stubs, const char *name) {
    void *function = dlsym(RTLD_DEFAULT, name);
    if (!function || n_entries == MOST) return 0;
    long i = n_entries++;
    entry[i].function = function;
    entry[i].name = name;
    /* push the number; mov the common part's address to r11, which no call keeps; jmp to it */
    unsigned char *stub = stubs + i * STUB_BYTES, *at = stub;
    int32_t number = i;
    uint64_t common = (uint64_t)poison_common;
    *at++ = 0x68; memcpy(at, &number, 4); at += 4;
    *at++ = 0x49; *at++ = 0xbb; memcpy(at, &common, 8); at += 8;
    *at++ = 0x41; *at++ = 0xff; *at++ = 0xe3;
    return stub;
}

static int poison_object(struct dl_phdr_info *object, size_t size, void *stubs) {
    const ElfW(Dyn) *dynamic = 0;
    for (int i = 0; i < object->dlpi_phnum; i++)
        if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
            dynamic = (void *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
    const ElfW(Rela) *jumps = 0;
    const ElfW(Sym) *symbols = 0;
    const char *text = 0;
    size_t bytes = 0;
    for (; dynamic && dynamic->d_tag != DT_NULL; dynamic++) {
        if (dynamic->d_tag == DT_JMPREL) jumps = (void *)dynamic->d_un.d_ptr;
        if (dynamic->d_tag == DT_SYMTAB) symbols = (void *)dynamic->d_un.d_ptr;
        if (dynamic->d_tag == DT_STRTAB) text = (void *)dynamic->d_un.d_ptr;
        if (dynamic->d_tag == DT_PLTRELSZ) bytes = dynamic->d_un.d_val;
    }
    if (!jumps || !symbols || !text || (uintptr_t)jumps < object->dlpi_addr) return 0;
    /* what the interpreter calls of itself comes after the call that led into it */
    Dl_info interpreter;
    if (dladdr(dlsym(RTLD_DEFAULT, "PyGILState_Ensure"), &interpreter) &&
        interpreter.dli_fbase == (void *)object->dlpi_addr) return 0;
    for (size_t i = 0; i < bytes / sizeof *jumps; i++) {
        const char *name = text + symbols[ELF64_R_SYM(jumps[i].r_info)].st_name;
        void **slot = (void *)(object->dlpi_addr + jumps[i].r_offset);
        if (strncmp(name, "Py", 2) && strncmp(name, "_Py", 3)) continue;
        void *stub = stub_for(stubs, name);
        if (!stub) continue;
        /* written once by the loader, and then perhaps closed; a table need not begin at a page */
        uintptr_t page = (uintptr_t)slot & -(uintptr_t)sysconf(_SC_PAGESIZE);
        if (mprotect((void *)page, (uintptr_t)(slot + 1) - page, PROT_READ | PROT_WRITE)) continue;
        __atomic_store_n(slot, stub, __ATOMIC_RELEASE);
    }
    return 0;
}

/* Returns how many jumps were changed; negative where it cannot be done. */
long poison_python(void) {
    unsigned char *stubs = mmap(0, STUB_BYTES * MOST, PROT_READ | PROT_WRITE | PROT_EXEC,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stubs == MAP_FAILED) return -1;
    dl_iterate_phdr(poison_object, stubs);
    return n_entries;
}
#else
long poison_python(void) { return -1; }
#endif
