/** A turn that never yields, for work in steps if the test is not about them. */
import type { Turn } from '../../src/lib/steps.ts'

export const uninterrupted = (): Turn => () => undefined
