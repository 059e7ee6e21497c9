export const INTERVALS = { daily: 'a day', weekly: 'a week', monthly: 'a month', lifetime: 'in all' } as const
