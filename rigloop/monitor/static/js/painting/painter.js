// The thread of the painting.
import { Painting } from "./painting.js";

const painting = new Painting((message) => postMessage(message));
onmessage = ({ data }) => painting.take(data);
