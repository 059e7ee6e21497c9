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
        ? namedTools(value).map(([title, tool]) => [`tools: ${title}`, asJson(tool)])
        : [[name, asJson(value)]],
    ),
  )

/** Each of several tools of one name has a title of its own, so that no change of one is hidden by another. */
const namedTools = (tools: readonly unknown[]): readonly (readonly [title: string, tool: unknown])[] =>
  [...Map.groupBy(tools, nameOfTool)].flatMap(([name, alike]) =>
    alike.map((tool, index) => [index === 0 ? name : `${name} (${index + 1})`, tool] as const),
  )

const nameOfTool = (tool: unknown): string => {
  const { name, server_label, type, function: called } = tool as Settings & { readonly function?: Settings }
  return [called?.['name'], name, server_label, type].find((text) => typeof text === 'string') ?? 'unnamed'
}

/** The order of an object's keys is ignored. */
const asJson = (value: unknown): string => JSON.stringify(value, sortKeys, 2)

const sortKeys = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
    : value
