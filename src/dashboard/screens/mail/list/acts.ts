import { type FolderName, mailStrings as strings } from '../strings.ts'
import type { RowChange } from './snapshot.ts'

/** What a person does to messages, and can take back. */
export type Act =
  | { readonly kind: 'move'; readonly folder: FolderName }
  | { readonly kind: 'read'; readonly read: boolean }
  | { readonly kind: 'star'; readonly starred: boolean }

/** What the act changes, as the API names it. */
export function changeOf(act: Act): RowChange & { readonly folder?: FolderName } {
  switch (act.kind) {
    case 'move':
      return { folder: act.folder }
    case 'read':
      return { read: act.read }
    case 'star':
      return { starred: act.starred }
    default:
      return act satisfies never
  }
}

/** What the act did, in a sentence. */
export function doneText(act: Act, count: number): string {
  switch (act.kind) {
    case 'move':
      return strings.done[act.folder](count)
    case 'read':
      return act.read ? strings.done.read(count) : strings.done.unread(count)
    case 'star':
      return act.starred ? strings.done.starred(count) : strings.done.unstarred(count)
    default:
      return act satisfies never
  }
}

/** A message before an act. */
interface ActedMessage {
  readonly id: string
  readonly folder: FolderName
  readonly read: boolean
  readonly starred: boolean
}

/** The acts that take an act back: what was the same before it, together. Messages that it did not change are left out. */
export function inverseOf(
  act: Act,
  before: readonly ActedMessage[],
): readonly { readonly ids: readonly string[]; readonly act: Act }[] {
  const changed = before.filter(message => !isAlready(act, message))
  const groups = Map.groupBy(changed, message => JSON.stringify(undoOf(act, message)))
  return [...groups].map(([text, messages]) => ({
    ids: messages.map(({ id }) => id),
    act: JSON.parse(text) as Act,
  }))
}

function isAlready(act: Act, message: ActedMessage): boolean {
  switch (act.kind) {
    case 'move':
      return message.folder === act.folder
    case 'read':
      return message.read === act.read
    case 'star':
      return message.starred === act.starred
    default:
      return act satisfies never
  }
}

function undoOf(act: Act, { folder, read, starred }: ActedMessage): Act {
  switch (act.kind) {
    case 'move':
      return { kind: 'move', folder }
    case 'read':
      return { kind: 'read', read }
    case 'star':
      return { kind: 'star', starred }
    default:
      return act satisfies never
  }
}
