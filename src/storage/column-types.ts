/** Types of columns whose meaning TypeScript cannot say. */

/** 0 or 1 on both engines. */
export type Flag = number

/** Nano-dollars: a safe integer, or reading it throws (sql-values.ts). */
export type Nanos = number

/** JSON as text: the database never looks inside. */
export type JsonText = string
