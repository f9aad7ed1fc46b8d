import { blankDraft, type DraftFields, isBlank, isSameDraft } from './draft-fields.ts'

/** A draft as the server has it. */
export interface StoredDraft {
  readonly id: string
  /** Changes with each change of the draft. */
  readonly updatedAt: string
}

/** The requests that keep a draft on the server. */
export interface DraftStore {
  create(fields: DraftFields): Promise<StoredDraft>
  /** @throws when the draft is not as it was at `updatedAt` */
  change(draft: StoredDraft, fields: DraftFields): Promise<StoredDraft>
  /** Why a request failed: the draft changed elsewhere, it is gone, the server is away, or the server refuses the content. */
  kindOf(error: unknown): 'changed' | 'gone' | 'away' | 'refused'
}

/** Where what is typed stands now. */
export type SaveState =
  | { readonly kind: 'saved'; readonly draft: StoredDraft | null }
  | { readonly kind: 'unsaved' | 'saving' }
  /** Kept on this device until the server answers. */
  | { readonly kind: 'away' }
  /** Somebody, or another window, changed it since it was read here. */
  | { readonly kind: 'conflict'; readonly isGone: boolean }
  | { readonly kind: 'refused'; readonly error: unknown }

/** Saves a draft as one types. */
export interface DraftSaver {
  /** Notes what is typed now; it is saved a moment after the last change. */
  type(fields: DraftFields): void
  /** Saves at once what is not saved yet. Resolves to the draft; null: nothing was typed, or it could not be saved. */
  flush(): Promise<StoredDraft | null>
  /** Saves what is typed here over what is stored. */
  overwrite(current: StoredDraft | null): Promise<StoredDraft | null>
  /** Takes what is stored, with these fields: what was typed here is given up. */
  accept(draft: StoredDraft, fields: DraftFields): void
  /** Ends it: what is typed is not saved any more. */
  stop(): void
}

interface DraftSaverOptions {
  readonly store: DraftStore
  /** What the server has; null: nothing yet. */
  readonly stored: { readonly draft: StoredDraft; readonly fields: DraftFields } | null
  readonly onState: (state: SaveState) => void
  /** How long after the last change it is saved, and how long after a failure it is tried again, in milliseconds. */
  readonly delayMs?: number
  readonly retryMs?: number
}

/** One request at a time: what is typed meanwhile goes with the next. */
export function createDraftSaver(options: DraftSaverOptions): DraftSaver {
  const { store, onState, delayMs = 800, retryMs = 5_000 } = options
  let draft = options.stored?.draft ?? null
  let saved: DraftFields = options.stored?.fields ?? blankDraft
  let typed = saved
  let timer: ReturnType<typeof setTimeout> | undefined
  let running: Promise<StoredDraft | null> | null = null
  let isBlocked = false
  let isStopped = false

  const isClean = () => isSameDraft(typed, saved) || (draft === null && isBlank(typed))

  const schedule = (ms: number) => {
    clearTimeout(timer)
    if (!isStopped && !isBlocked) timer = setTimeout(() => void save(), ms)
  }

  async function save(): Promise<StoredDraft | null> {
    clearTimeout(timer)
    if (running) {
      await running
      return save()
    }
    if (isClean()) return draft
    if (isStopped || isBlocked) return null
    running = saveOnce(typed)
    const result = await running
    running = null
    if (result && !isClean()) schedule(delayMs)
    return result
  }

  async function saveOnce(fields: DraftFields): Promise<StoredDraft | null> {
    onState({ kind: 'saving' })
    try {
      const next = draft ? await store.change(draft, fields) : await store.create(fields)
      draft = next
      saved = fields
      if (!isStopped) onState(isClean() ? { kind: 'saved', draft } : { kind: 'unsaved' })
      return next
    } catch (error) {
      if (!isStopped) fail(error)
      return null
    }
  }

  function fail(error: unknown): void {
    const kind = store.kindOf(error)
    switch (kind) {
      case 'away':
        onState({ kind: 'away' })
        schedule(retryMs)
        return
      case 'changed':
      case 'gone':
        isBlocked = true
        onState({ kind: 'conflict', isGone: kind === 'gone' })
        return
      case 'refused':
        // Tried again once something else is typed.
        onState({ kind: 'refused', error })
        return
      default:
        kind satisfies never
    }
  }

  return {
    type(fields) {
      typed = fields
      if (isBlocked || isStopped) return
      onState(isClean() ? { kind: 'saved', draft } : { kind: 'unsaved' })
      if (!isClean()) schedule(delayMs)
    },
    flush: save,
    overwrite(current) {
      draft = current
      saved = blankDraft
      isBlocked = false
      return save()
    },
    accept(next, fields) {
      draft = next
      saved = fields
      typed = fields
      isBlocked = false
      clearTimeout(timer)
      onState({ kind: 'saved', draft })
    },
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
  }
}
