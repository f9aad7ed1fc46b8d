/** An attachment as the API takes it. */
export interface OutgoingFile {
  readonly filename: string
  /** Base64. */
  readonly content: string
  readonly content_type?: string
}

const mostFiles = 20
const mostFileBytes = 10 * 1024 * 1024

/** Why these cannot all be attached; null: they can. */
export function fileProblem(files: readonly { readonly size: number }[]): 'count' | 'size' | null {
  if (files.length > mostFiles) return 'count'
  return files.reduce((sum, file) => sum + file.size, 0) > mostFileBytes ? 'size' : null
}

/** The bytes of files, for a request. */
export function readFiles(files: readonly File[]): Promise<readonly OutgoingFile[]> {
  return Promise.all(
    files.map(async file => ({
      filename: file.name.slice(0, 255),
      content: await base64Of(file),
      ...(file.type !== '' && { content_type: file.type }),
    })),
  )
}

function base64Of(file: Blob): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const reader = new FileReader()
  reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''))
  reader.onerror = () => reject(reader.error ?? new Error('The file could not be read.'))
  reader.readAsDataURL(file)
  return promise
}

// The attachments of an email that was taken back: they wait here for the form that opens next.
let returned: readonly File[] = []

export function returnFiles(files: readonly File[]): void {
  returned = files
}

export function takeReturnedFiles(): readonly File[] {
  const files = returned
  returned = []
  return files
}
