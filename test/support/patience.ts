/**
 * How long a test waits for something that takes `ms` on an idle machine. Test machines are busy with other work, so a time limit only
 * tells a slow step from a hang; speed is measured by the benchmark.
 */
export const patient = (ms: number): number => ms * 10
