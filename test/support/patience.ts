/**
 * How long a test waits for what should take `ms` on an idle machine. Machines that run tests do other work besides, so a
 * bound of time tells a wait from a hang and no more; what must be fast is measured by the benchmark.
 */
export const patient = (ms: number): number => ms * 10
