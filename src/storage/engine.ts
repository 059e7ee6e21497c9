/** The databases that are spoken. */
export type Engine = 'sqlite' | 'postgres'
