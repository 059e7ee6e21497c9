/** Column types whose meaning TypeScript cannot express. */

/** 0 or 1 on both engines. */
export type Flag = number

/** Nano-dollars: a safe integer; reading any other number throws (sql-values.ts). */
export type Nanos = number

/** JSON as text, which the database never parses. */
export type JsonText = string
