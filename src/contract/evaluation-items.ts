/** The most items of an evaluation (docs/contract/presets.md#evaluations). */
export const EVALUATION_ITEMS_MAX = 2000
