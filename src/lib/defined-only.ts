/** The members without those that are `undefined`: an optional member of a schema may be absent or `undefined`. */
export const definedOnly = <Members extends object>(members: Members): { [Name in keyof Members]?: Exclude<Members[Name], undefined> } =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as never
