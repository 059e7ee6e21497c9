/** After an upgrade, a tab that was open asks for a script that no longer exists: the tab reloads itself, once. */
const NAME = 'patchbay.reloaded'

export const isMissingScript = (thrown: unknown): boolean =>
  thrown instanceof TypeError && /dynamically imported module|importing a module script/i.test(thrown.message)

/** Returns false if this version has reloaded itself before: then the script is missing for another reason. */
export const reloadOnce = (): boolean => {
  const script = document.querySelector<HTMLScriptElement>('script[type="module"]')?.src ?? ''
  if (sessionStorage.getItem(NAME) === script) return false
  sessionStorage.setItem(NAME, script)
  location.reload()
  return true
}
