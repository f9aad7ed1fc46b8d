import { randomBytes } from 'node:crypto'
import { crc32, deflateRawSync } from 'node:zlib'

interface Packed {
  readonly bytes: Buffer
  /** APPNOTE 4.4.4: bit 0 is encryption. */
  readonly flags?: number
  /** APPNOTE 4.4.5: 0 is stored, 8 is deflated. */
  readonly method?: number
}

/** A ZIP archive with one file `content`, stored unless `packed` is given. */
export function zipOf(name: string, content: Buffer, packed: Packed = { bytes: content }): Buffer {
  const facts = Buffer.alloc(26)
  facts.writeUInt16LE(10, 0)
  facts.writeUInt16LE(packed.flags ?? 0, 2)
  facts.writeUInt16LE(packed.method ?? 0, 4)
  facts.writeUInt32LE(crc32(content), 10)
  facts.writeUInt32LE(packed.bytes.length, 14)
  facts.writeUInt32LE(content.length, 18)
  facts.writeUInt16LE(name.length, 22)
  const file = Buffer.concat([Buffer.from('PK\x03\x04'), facts, Buffer.from(name), packed.bytes])
  const entry = Buffer.concat([
    Buffer.from('PK\x01\x02\x0a\x00', 'latin1'),
    facts,
    // No comment, disk 0, no attributes, at offset 0.
    Buffer.alloc(14),
    Buffer.from(name),
  ])
  const end = Buffer.alloc(18)
  end.writeUInt16LE(1, 4)
  end.writeUInt16LE(1, 6)
  end.writeUInt32LE(entry.length, 8)
  end.writeUInt32LE(file.length, 12)
  return Buffer.concat([file, entry, Buffer.from('PK\x05\x06'), end])
}

/** An archive with one encrypted file, which nobody can decrypt: its bytes are random. */
export function encryptedZip(content: Buffer): Buffer {
  return zipOf('secret.com', content, { bytes: randomBytes(content.length + 12), flags: 1 })
}

/** A small archive with one file of so many zeros. */
export function zipOfZeros(bytes: number): Buffer {
  const zeros = Buffer.alloc(bytes)
  return zipOf('zeros', zeros, { bytes: deflateRawSync(zeros, { level: 9 }), method: 8 })
}

/** ZIP archives nested to this depth, with `content` in the innermost. */
export function nestedZip(depth: number, content: Buffer): Buffer {
  let archive = zipOf('a.txt', content)
  for (let level = 1; level < depth; level++) archive = zipOf('a.zip', archive)
  return archive
}
