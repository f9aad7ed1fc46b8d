import { useEffect } from 'react'

/** The title of the window while this is shown. No address and no subject stands in it: windows' titles are logged. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Mailroom`
  }, [title])
}
