/** For work in steps that no test looks at: it never gives way. */
import type { Turn } from '../../src/lib/steps.ts'

export const uninterrupted = (): Turn => () => undefined
