// Decodes the base64 of a matrix, natively if the browser supports it.
export function bytes(base64: string): Uint8Array {
  const native = (Uint8Array as unknown as { fromBase64?: (s: string) => Uint8Array }).fromBase64;
  if (native) return native.call(Uint8Array, base64);
  const text = atob(base64), out = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) out[i] = text.charCodeAt(i);
  return out;
}

// words32 reads little-endian uint32 values, whatever the machine's byte order.
export function words32(base64: string): Uint32Array {
  const raw = bytes(base64), out = new Uint32Array(raw.length >> 2);
  const view = new DataView(raw.buffer, raw.byteOffset, raw.byteLength);
  for (let i = 0; i < out.length; i++) out[i] = view.getUint32(4 * i, true);
  return out;
}
