/**
 * What a person leaves in this browser, such as a text that the server has not: keys with {@link personalPrefix}. It is theirs
 * alone, and goes when they sign out. How the page looks (theme, shortcuts) belongs to the browser and has other keys.
 */
export const personalPrefix = 'mailroom.'
/** Whose it is: the id of a user. */
const ownerKey = `${personalPrefix}owner`

/** Forgets what the person left. */
export function forgetPersonal(storage: Storage): void {
  const keys = Array.from({ length: storage.length }, (_, i) => storage.key(i) ?? '')
  for (const key of keys) if (key.startsWith(personalPrefix)) storage.removeItem(key)
}

/** Called when it is known who is signed in: what another person left is forgotten. */
export function claimPersonal(storage: Storage, userId: string): void {
  if (storage.getItem(ownerKey) === userId) return
  forgetPersonal(storage)
  try {
    storage.setItem(ownerKey, userId)
  } catch {
    // Full, or forbidden: what is kept meanwhile is forgotten when the page is loaded again.
  }
}
