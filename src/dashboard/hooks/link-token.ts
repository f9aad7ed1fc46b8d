import { useState } from 'react'

/** The token of a link that was opened: what is behind its `#`. It stays while the page is shown; empty: there is none. */
export function useLinkToken(): string {
  const [token] = useState(() => decodeURIComponent(location.hash.slice(1)).slice(0, 128))
  return token
}
