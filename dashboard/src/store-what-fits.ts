/** False where the text is larger than what the browser still allows this page. */
export const storeWhatFits = (storage: Storage, name: string, text: string): boolean => {
  try {
    storage.setItem(name, text)
    return true
  } catch (thrown) {
    if (thrown instanceof DOMException && thrown.name === 'QuotaExceededError') return false
    throw thrown
  }
}
