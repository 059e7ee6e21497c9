/** Returns false if the text is larger than the browser allows. */
export const storeWhatFits = (storage: Storage, name: string, text: string): boolean => {
  try {
    storage.setItem(name, text)
    return true
  } catch (thrown) {
    if (thrown instanceof DOMException && thrown.name === 'QuotaExceededError') return false
    throw thrown
  }
}
