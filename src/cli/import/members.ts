/** Reads members of another product's file in the form that an importer expects. */
/** '' if there is none. */
export const wordIn = (value: unknown): string =>
  typeof value === 'string' ? value : value === null || value === undefined ? '' : JSON.stringify(value)
