/** Screens that are loaded when they are first opened, or when the page has nothing else to do. */
import { type FunctionComponent, lazy } from 'react'

import { isMissingScript, reloadOnce } from './new-version.ts'
import { PAGE_BASE } from './page.ts'

type Load = () => Promise<object>

const loads: Load[] = []

/** `name`: what the file exports. */
export const lazyScreen = (load: Load, name: string): FunctionComponent => {
  loads.push(load)
  const loadScreen = async (): Promise<{ default: FunctionComponent }> => {
    try {
      return { default: ((await load()) as Readonly<Record<string, FunctionComponent>>)[name] ?? NOTHING }
    } catch (thrown) {
      // The file is gone where another version was installed. Where nobody answers, a page that reloads would be lost.
      if (!isMissingScript(thrown) || !(await isServiceThere()) || !reloadOnce()) throw thrown
      return new Promise(() => undefined)
    }
  }
  return lazy(loadScreen)
}

const NOTHING: FunctionComponent = () => null

const isServiceThere = (): Promise<boolean> =>
  fetch(PAGE_BASE).then(
    ({ ok }) => ok,
    () => false,
  )

const IDLE_MS = 2000

/** A screen that is there already opens at once, also while the service is away. */
export const loadScreensLater = (): void => {
  setTimeout(() => {
    for (const load of loads) void load().catch(() => undefined)
  }, IDLE_MS)
}
