import { createContext, useContext } from 'react'
import type { Perform } from './useActs.ts'
import type { MessageList } from './useMessageList.ts'

/** The list beside which a message is open, and what can be done to its messages. */
export interface MailList {
  readonly list: MessageList
  readonly perform: Perform
  /** May the person move and mark messages? */
  readonly mayWrite: boolean
  readonly maySend: boolean
}

export const MailListContext = createContext<MailList | null>(null)

/** The list of the screen. Only below MailLayout. */
export function useMailList(): MailList {
  const list = useContext(MailListContext)
  if (!list) throw new Error('a part of the mail screen stands outside it')
  return list
}
