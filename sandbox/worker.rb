# The Ruby side of package sandbox: a worker, which serves the calls of one source.
# frame.go has the protocol.
#
# The process was confined before Ruby started. User code can change any class,
# including those used here, and then only breaks its own calls.

require "json"

module Proviso
  HEADER = 9
  MAX_FRAME = 16 << 20
  MARK = "\u0001"

  # A module lacks the function that is to be called.
  class Missing < StandardError
    attr_reader :names

    def initialize(message, names)
      super(message)
      @names = names
    end
  end

  # Takes what the code prints. The first bytes go to the host, which shows them if
  # the worker dies; the rest is dropped.
  class Output < IO
    def self.open_sink
      sink = for_fd(2, "w", autoclose: false)
      sink.instance_variable_set(:@left, 8192)
      sink
    end

    def write(*texts)
      texts.sum do |text|
        text = text.to_s
        if @left > 0
          data = text.byteslice(0, @left)
          @left -= data.bytesize
          begin
            syswrite(data)
          rescue SystemCallError, IOError
            @left = 0
          end
        end
        text.bytesize
      end
    end

    def <<(text)
      write(text)
      self
    end

    def print(*texts)
      write(*texts)
      nil
    end

    def puts(*lines)
      write("\n") if lines.empty?
      lines.flatten.each { |line| write(line.to_s.chomp, "\n") }
      nil
    end

    def printf(*args)
      write(format(*args))
      nil
    end

    def flush = self
    def sync = true
    def sync=(value); end
    def tty? = false
    alias isatty tty?
  end

  # The self of a source. Its methods are those that the text defines.
  class Script
    def include(*modules) = extend(*modules)
    def private(*) = nil
    def public(*) = nil
    def inspect = "main"
    alias to_s inspect
  end

  # The compiled source of a load frame.
  class Source
    attr_reader :name, :max_reply, :roots, :network, :file

    def initialize(said)
      @name, @text, @form, @entry = said["name"], said["text"], said["form"], said["entry"]
      @params, @keep, @max_reply = said["params"], said["keep"], said["reply"]
      @roots, @network, @said = said["roots"] || [], said["network"], said
      @file = said["path"].to_s.empty? ? @name : said["path"]
    end

    def line(n) = n > 0 ? @text.lines[n - 1].to_s : ""

    # The text of a method with the lines of the body.
    def wrapped
      list = @params.map { |p| p + " = nil" }.join(", ")
      "def __proviso_main(#{list})\n#{@text}\nend"
    end

    def check
      raise SyntaxError, "#{@file}:1: the text is not valid UTF-8" unless @text.valid_encoding?
      RubyVM::InstructionSequence.compile(@form == "module" ? @text : wrapped, @file, @file, @form == "module" ? 1 : 0)
    end

    # Sets up the environment that the code may see, and runs a module once.
    def open
      ENV.update(@said["env"] || {})
      (@said["path_first"] || []).reverse_each { |folder| $LOAD_PATH.unshift(folder) }
      Dir.chdir(@said["cwd"]) if @said["cwd"]
      $PROGRAM_NAME = @file
      check
      @function = load
    end

    # Runs the text with a self of its own, and returns its function.
    def load
      script = Script.new
      script.instance_eval(@form == "module" ? @text : wrapped, @file, @form == "module" ? 1 : 0)
      return script.method(:__proviso_main) unless @form == "module"
      names = script.singleton_methods(false).map(&:to_s).sort
      raise Missing.new("it is not said which function to call", names) if @entry.empty? && names.length != 1
      entry = @entry.empty? ? names[0] : @entry
      path, _, name = entry.rpartition(".")
      target = path.empty? ? script : script.singleton_class.const_get(path)
      return target.method(name) if path.empty? ? names.include?(name) : target.respond_to?(name)
      raise Missing.new("there is no function #{entry}", names)
    end

    def call(args)
      function = @function || load
      @function = @keep ? function : nil
      function.call(*args)
    end
  end

  class Worker
    def initialize(config)
      @in = IO.for_fd(config["in"], "r", autoclose: false).binmode
      @out = IO.for_fd(config["out"], "w", autoclose: false).binmode
      @buffer = String.new(encoding: Encoding::BINARY)
    end

    def read(n)
      while @buffer.bytesize < n
        begin
          @buffer << @in.readpartial([n - @buffer.bytesize, 65536].max)
        rescue EOFError
          exit!(0)
        end
      end
      @buffer.slice!(0, n)
    end

    def frame
      size = read(4).unpack1("N")
      exit!(4) if size < HEADER || size > MAX_FRAME + HEADER
      data = read(size)
      @id = data.byteslice(1, 8)
      [data.byteslice(0, 1), data.byteslice(HEADER, size - HEADER).force_encoding(Encoding::UTF_8)]
    end

    def send_frame(kind, payload)
      data = [HEADER + payload.bytesize].pack("N") << kind << @id << payload.b
      data = data.byteslice(@out.syswrite(data), data.bytesize) until data.empty?
    end

    def serve
      @id = "\0" * 8
      send_frame("H", "1")
      loop do
        kind, payload = frame
        @calling = false
        kind, payload = attempt { obey(kind, payload) }
        send_frame(@calling && worn? ? kind.downcase : kind, payload)
      end
    end

    def obey(kind, payload)
      said = JSON.parse(payload, max_nesting: false, create_additions: false)
      case kind
      when "C", "D"
        said = Proviso.revive(said) if kind == "D"
        @calling = true
        result(@source.call(said))
      when "S"
        @source = Source.new(said)
        @source.open
        ["R", "true"]
      when "K"
        @source = Source.new(said)
        @source.check
        ["R", "true"]
      when "P" then ["R", JSON.generate(Proviso.probe(said))]
      else exit!(4)
      end
    end

    def attempt
      yield
    rescue Exception => e # whatever the code raises, also to end the interpreter
      ["E", Proviso.explain(e, @source)]
    end

    def result(value)
      kind, payload = Proviso.encode(value)
      return ["E", '{"kind":"large"}'] if payload.bytesize > @source.max_reply
      [kind, payload]
    end

    # Whether the worker should be replaced after this call.
    def worn? = Thread.list.length > 1
  end

  class << self
    def revive(v)
      case v
      when String
        return v unless v.start_with?(MARK)
        { "n" => Float::NAN, "+" => Float::INFINITY, "-" => -Float::INFINITY, "0" => -0.0, "s" => v[2..] }[v[1]]
      when Array then v.map { |x| revive(x) }
      when Hash then v.transform_values { |x| revive(x) }
      else v
      end
    end

    # Marks the numbers that JSON lacks, and strings that look like marks.
    def marked(v)
      case v
      when String, Symbol then v.to_s.start_with?(MARK) ? MARK + "s" + v.to_s : v.to_s
      when Float
        return v if v.finite?
        MARK + (v.nan? ? "n" : v > 0 ? "+" : "-")
      when Array then v.map { |x| marked(x) }
      when Hash then v.to_h { |k, x| [k.to_s, marked(x)] }
      else v
      end
    end

    # Returns the kind of frame and the payload of a result.
    def encode(v)
      return ["O", JSON.generate(v.class.name.to_s)] if v.is_a?(Proc) || v.is_a?(Method) || v.is_a?(Module)
      ["R", JSON.generate(v, max_nesting: false)]
    rescue JSON::GeneratorError => e
      raise e unless e.message.match?(/NaN|Infinity/)
      ["V", JSON.generate(marked(v), max_nesting: false)]
    end

    def text_of(e)
      text = e.message.to_s
      text = text.encode(Encoding::UTF_8, invalid: :replace, undef: :replace).scrub
      text[0, 2048]
    rescue Exception
      "<the exception cannot be shown>"
    end

    # Returns what the sandbox refused, or nil if e is about something else.
    def denial(e, source)
      return nil if source.roots.empty?
      10.times do
        case e
        when Errno::EPERM, Errno::EACCES, Errno::EROFS then return text_of(e)
        when Errno::ENOENT
          name = text_of(e)[/ (\/.*)\z/, 1]
          return "outside of what it was granted: #{name}" if name && source.roots.none? { |r| name == r || name.start_with?(r.chomp("/") + "/") }
        end
        return "no network" if !source.network && e.class.name == "Socket::ResolutionError" || !source.network && text_of(e).start_with?("getaddrinfo:")
        e = e.cause
        return nil if e.nil?
      end
      nil
    end

    # An exception caused by a memory error counts as a limit, too.
    def memory?(e)
      until e.nil?
        return true if e.is_a?(NoMemoryError) || e.is_a?(Errno::ENOMEM) || e.class.name == "IO::Buffer::AllocationError"
        e = e.cause
      end
      false
    end

    def explain(e, source)
      told = { "kind" => "exception", "name" => e.class.name.to_s, "message" => text_of(e) }
      place(e, source, told) if source
      case e
      when Missing then return JSON.generate("kind" => "missing", "message" => text_of(e), "names" => e.names.first(100))
      when ->(x) { memory?(x) } then told["kind"] = "memory"
      when SyntaxError
        if source && (m = text_of(e).match(/\A(.*?):(\d+): (.*)/)) && m[1] == source.file
          text = m[3] == "syntax errors found" || m[3].start_with?("syntax error found") ? text_of(e)[/^\s*\|?\s*\^+~*\s*(.*)/, 1] || m[3] : m[3]
          told.update("kind" => "syntax", "line" => m[2].to_i, "message" => text)
        end
      when LoadError then told.update("kind" => "import", "module" => e.path.to_s)
      end
      if source && told["kind"] == "exception" && (refused = denial(e, source))
        told.update("kind" => "denied", "refused" => refused)
      end
      JSON.generate(told)
    rescue Exception
      '{"kind":"exception","name":"Exception","message":"an exception that cannot be shown"}'
    end

    # Adds the stack, without the worker's own frames, and the line in the text.
    def place(e, source, told)
      frames = (e.backtrace_locations || []).take_while { |l| l.path != "-e" }
      frames = frames.drop_while { |l| l.path == "-e" }
      told["stack"] = frames.first(20).map do |l|
        name = l.path == source.file ? source.name : l.path.to_s
        code = l.path == source.file ? source.line(l.lineno).strip[0, 200] : ""
        "  #{name}:#{l.lineno}:in #{l.label}\n" + (code.empty? ? "" : "    #{code}\n")
      end.join
      own = frames.find { |l| l.path == source.file }
      told["line"] = own.lineno if own
    end

    # Tries what the sandbox must refuse; returns what was not refused.
    def probe(said)
      require "socket"
      through = []
      try = lambda do |name, &attempt|
        attempt.call
        through << name
      rescue SystemCallError, NotImplementedError
        nil
      end
      try.call("read") { File.open(said["file"]).close }
      try.call("parent") { File.open(said["parent"]).close }
      said["write"].each do |path|
        try.call("write") do
          File.open(path, File::WRONLY | File::CREAT, 0o600).close
          File.unlink(path)
        end
      end
      unless said["network"]
        try.call("socket") { Socket.new(:INET, :STREAM).close }
        try.call("socket") { Socket.new(:INET, :DGRAM).close }
      end
      try.call("socket") { Socket.new(:UNIX, :DGRAM).close }
      try.call("fork") { fork { exit!(0) } }
      # A successful exec ends this worker, which the host counts as not refused.
      said["exec"].each { |path| try.call("exec") { exec([path, path], "-e", "") } }
      through
    end
  end

  config = JSON.parse(ARGV[0])
  ARGV.clear
  config["path"].each { |folder| $LOAD_PATH << folder unless $LOAD_PATH.include?(folder) }
  $stdout = $stderr = Output.open_sink
  WORKER = Worker.new(config)
end

Proviso::WORKER.serve
