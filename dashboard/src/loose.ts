/** Reads JSON whose form nobody promises: a value of another form counts as empty. */
export type Loose = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is Loose => typeof value === 'object' && value !== null && !Array.isArray(value)

export const object = (value: unknown): Loose => (isObject(value) ? value : {})

export const list = (value: unknown): readonly unknown[] => (Array.isArray(value) ? (value as readonly unknown[]) : [])
