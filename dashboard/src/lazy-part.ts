/** Screens and parts that are loaded when they are first opened, or when the page is idle. */
import { type FunctionComponent, lazy } from 'react'

import { isServiceThere, reachedAgain } from './api/connection.ts'
import { queryClient } from './api/query-client.ts'
import { isMissingScript, reloadOnce } from './new-version.ts'

/** Leaves out the type of the exports: it would be circular, as a screen reads the address, whose type is made of all screens. */
type Load = () => Promise<object>

const loads: Load[] = []

/** `name`: the name of the file's export. */
export const lazyPart = <Props extends object = object>(load: Load, name: string): FunctionComponent<Props> => {
  loads.push(load)
  const loadPart = async (): Promise<{ default: FunctionComponent<Props> }> => {
    for (;;) {
      try {
        return { default: ((await load()) as Readonly<Record<string, FunctionComponent<Props>>>)[name] ?? NOTHING }
      } catch (thrown) {
        if (!isMissingScript(thrown)) throw thrown
        // The file is missing if another version was installed. A reload while the service does not answer would lose the page, so it
        // waits.
        if (await isServiceThere()) return reloaded(thrown)
        await reachedAgain()
      }
    }
  }
  return lazy(loadPart)
}

/** Never resolves, since the page reloads; throws if it has reloaded already. */
const reloaded = (thrown: unknown): Promise<never> => {
  if (!reloadOnce()) throw thrown
  return new Promise(() => undefined)
}

const NOTHING: FunctionComponent = () => null

const IDLE_MS = 2000

/**
 * Loads all parts in advance, so that they open at once, also while the service is away; not in a browser that is set to save data. The
 * performance mark records when all are loaded.
 */
export const loadPartsLater = (): void => {
  if (savesData()) return
  setTimeout(() => {
    if (queryClient.isFetching() > 0) return loadPartsLater()
    void Promise.all(loads.map((load) => load())).then(
      () => performance.mark('patchbay screens loaded'),
      () => undefined,
    )
  }, IDLE_MS)
}

/** Not every browser says it. */
const savesData = (): boolean =>
  'connection' in navigator && (navigator.connection as { readonly saveData?: boolean } | undefined)?.saveData === true
