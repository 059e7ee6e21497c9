/** Compares two presets' settings by key, and tools by their names, so that reordering tools is no change. */
export interface SettingChange {
  /** For example `temperature`, or `tools: search`. */
  readonly name: string
  /** As JSON; null if absent. */
  readonly before: string | null
  readonly after: string | null
}

type Settings = Readonly<Record<string, unknown>>

export const settingsDiff = (before: Settings, after: Settings): readonly SettingChange[] => {
  const [first, second] = [flattened(before), flattened(after)]
  return [...new Set([...first.keys(), ...second.keys()])].flatMap((name) => {
    const [one, other] = [first.get(name) ?? null, second.get(name) ?? null]
    return one === other ? [] : [{ name, before: one, after: other }]
  })
}

const flattened = (settings: Settings): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(settings).flatMap(([name, value]): (readonly [string, string])[] =>
      name === 'tools' && Array.isArray(value)
        ? (value as readonly unknown[]).map((tool, index) => [`tools: ${nameOfTool(tool) ?? String(index + 1)}`, asJson(tool)])
        : [[name, asJson(value)]],
    ),
  )

const nameOfTool = (tool: unknown): string | null => {
  const { name, type, function: called } = tool as { name?: unknown; type?: unknown; function?: { name?: unknown } }
  return [called?.name, name, type].find((text) => typeof text === 'string') ?? null
}

/** The order of an object's keys is ignored. */
const asJson = (value: unknown): string => JSON.stringify(value, sortKeys, 2)

const sortKeys = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
    : value
