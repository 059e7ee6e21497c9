/** Screens that are loaded when they are first opened, or when the page has nothing else to do. */
import { type FunctionComponent, lazy } from 'react'

import { isServiceThere, reachedAgain } from './api/connection.ts'
import { queryClient } from './api/query-client.ts'
import { isMissingScript, reloadOnce } from './new-version.ts'

type Load = () => Promise<object>

const loads: Load[] = []

/** `name`: what the file exports. */
export const lazyScreen = (load: Load, name: string): FunctionComponent => {
  loads.push(load)
  const loadScreen = async (): Promise<{ default: FunctionComponent }> => {
    for (;;) {
      try {
        return { default: ((await load()) as Readonly<Record<string, FunctionComponent>>)[name] ?? NOTHING }
      } catch (thrown) {
        if (!isMissingScript(thrown)) throw thrown
        // The file is gone where another version was installed. Where nobody answers, a page that reloads would be lost: it waits.
        if (await isServiceThere()) return reloaded(thrown)
        await reachedAgain()
      }
    }
  }
  return lazy(loadScreen)
}

/** Never resolves, since the page begins anew; throws where it has done so already. */
const reloaded = (thrown: unknown): Promise<never> => {
  if (!reloadOnce()) throw thrown
  return new Promise(() => undefined)
}

const NOTHING: FunctionComponent = () => null

const IDLE_MS = 2000

/** A screen that is there already opens at once, also while the service is away. The mark tells when all of them are. */
export const loadScreensLater = (): void => {
  setTimeout(() => {
    if (queryClient.isFetching() > 0) return loadScreensLater()
    void Promise.all(loads.map((load) => load())).then(
      () => performance.mark('patchbay screens loaded'),
      () => undefined,
    )
  }, IDLE_MS)
}
