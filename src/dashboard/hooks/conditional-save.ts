import { useState } from 'react'
import { ApiError } from '../api/errors.ts'
import { type Action, useAction } from './action.ts'

/** What the API shows with the time of its last change; null: it was never changed. */
interface Dated {
  readonly updated_at: string | null
}

export interface ConditionalSaveOptions<Stored extends Dated> {
  /** As the form began with it. */
  readonly stored: Stored
  /** Reads it as it is now. */
  read(): Promise<Stored>
  /** Saves what is typed, if nobody has changed it since `ifUpdatedAt`. */
  save(ifUpdatedAt: Stored['updated_at']): Promise<Pick<Stored, 'updated_at'>>
  /** Puts what someone else saved into the form. */
  show(theirs: Stored): void
}

export interface ConditionalSave extends Pick<Action, 'isBusy' | 'error'> {
  /** Someone else changed it since it was read; what is typed is not saved until the person decides. */
  readonly isConflict: boolean
  save(): Promise<void>
  /** Saves what is typed over what someone else saved. */
  keepMine(): Promise<void>
  takeTheirs(): Promise<void>
}

/** Saves a form of something that others may edit at the same time, without overwriting what they saved unseen. */
export function useConditionalSave<Stored extends Dated>(options: ConditionalSaveOptions<Stored>): ConditionalSave {
  const [readAt, setReadAt] = useState<Stored['updated_at']>(options.stored.updated_at)
  const { isBusy, error, run } = useAction()
  const saveIf = (ifUpdatedAt: Stored['updated_at']) =>
    run(async () => {
      const saved = await options.save(ifUpdatedAt)
      setReadAt(saved.updated_at)
    })
  const isConflict = error instanceof ApiError && error.code === 'changed_since_read'
  return {
    isBusy,
    error: isConflict ? null : error,
    isConflict,
    save: () => saveIf(readAt),
    async keepMine() {
      await saveIf((await options.read()).updated_at)
    },
    takeTheirs: () =>
      run(async () => {
        const theirs = await options.read()
        setReadAt(theirs.updated_at)
        options.show(theirs)
      }),
  }
}
