/** The supported databases. */
export type Engine = 'sqlite' | 'postgres'
