/** Screens and parts that are loaded when they are first opened, or when the page has nothing else to do. */
import { type FunctionComponent, lazy } from 'react'

import { isServiceThere, reachedAgain } from './api/connection.ts'
import { queryClient } from './api/query-client.ts'
import { isMissingScript, reloadOnce } from './new-version.ts'

/** Leaves out the type of the exports: a screen reads the address, and the type of the address is made of all screens. */
type Load = () => Promise<object>

const loads: Load[] = []

/** `name`: what the file exports. */
export const lazyPart = <Props extends object = object>(load: Load, name: string): FunctionComponent<Props> => {
  loads.push(load)
  const loadPart = async (): Promise<{ default: FunctionComponent<Props> }> => {
    for (;;) {
      try {
        return { default: ((await load()) as Readonly<Record<string, FunctionComponent<Props>>>)[name] ?? NOTHING }
      } catch (thrown) {
        if (!isMissingScript(thrown)) throw thrown
        // The file is gone where another version was installed. A page that reloads without an answer would be lost: it waits.
        if (await isServiceThere()) return reloaded(thrown)
        await reachedAgain()
      }
    }
  }
  return lazy(loadPart)
}

/** Never resolves, since the page begins anew; throws where it has done so already. */
const reloaded = (thrown: unknown): Promise<never> => {
  if (!reloadOnce()) throw thrown
  return new Promise(() => undefined)
}

const NOTHING: FunctionComponent = () => null

const IDLE_MS = 2000

/** A part that is there already opens at once, also while the service is away. The mark records when all of them are. */
export const loadPartsLater = (): void => {
  setTimeout(() => {
    if (queryClient.isFetching() > 0) return loadPartsLater()
    void Promise.all(loads.map((load) => load())).then(
      () => performance.mark('patchbay screens loaded'),
      () => undefined,
    )
  }, IDLE_MS)
}
