// The connection to the page's own server: it comes back by itself, as often as it has to.
const AGAIN_MS = 1000;

export class Connection {
  constructor(onMessage, onFrame, onState) {
    this.onMessage = onMessage;
    this.onFrame = onFrame;
    this.onState = onState;
    this.token = new URLSearchParams(location.search).get("token") || "";
    this.socket = null;
    this.connect();
  }

  connect() {
    const socket = new WebSocket(`ws://${location.host}/ws?token=${encodeURIComponent(this.token)}`);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      this.socket = socket;
      this.onState(true, "");
    };
    socket.onmessage = ({ data }) => {
      if (typeof data === "string") this.onMessage(JSON.parse(data));
      else this.onFrame(...unframed(data));
    };
    socket.onclose = (event) => {
      this.socket = null;
      this.onState(false, event.reason);
      setTimeout(() => this.connect(), AGAIN_MS);
    };
  }

  send(message) {
    if (this.socket?.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }
}

// length of a header as uint32, header in JSON, numbers as float64
function unframed(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  return [header, new Float64Array(buffer, 4 + length)];
}
